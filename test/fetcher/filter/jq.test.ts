import { describe, expect, it } from 'vitest'

import { jqFault, runJq } from '../../../src/fetcher/filter/jq.ts'

const outputs = async (json: string, program: string) => {
  const ran = await runJq(json, program)
  return 'failure' in ran ? ran.failure : ran.content.split('\n')
}

describe('a jq program', () => {
  it.each<[string, string, string[]]>([
    ['{"items":[{"name":"a"},{"name":"b"}]}', '.items[].name', ['"a"', '"b"']],
    ['{"a":1}\n{"a":2}\n', '.a', ['1', '2']],
    ['{"b":{"c":[1, 2]}}', '.b', ['{"c":[1,2]}']],
    ['[1,2,3]', 'map(select(. > 1)) | add', ['5']],
    ['{"a":1}', 'empty', ['']],
    ['null', '"line\\nbreak"', ['"line\\nbreak"']],
    ['"\\u0000"', '.', ['"\\u0000"']],
    ['{"a":"é"}', '.a | length # a comment', ['1']],
    ['[3,1]', 'def smallest: min; smallest', ['1']],
    ['1', 'label $out | 1, break $out, 2', ['1']],
    ['{"env":1}', '{env: .env, input: 2}', ['{"env":1,"input":2}']],
  ])('on %s: %s', async (json, program, expected) => {
    expect(await outputs(json, program)).toEqual(expected)
  })

  it.each([
    ['{"id":675127116845989888}', '.id', '675127116845989888'],
    ['[1.10,0.1000,100000000000000000000001]', '.[0]', '1.10'],
    ['[1.10,0.1000,100000000000000000000001]', '.[2]', '100000000000000000000001'],
    ['3.0', '[.]', '[3.0]'],
  ])('keeps the digits of numbers: %s', async (json, program, digits) => {
    expect(await outputs(json, program)).toEqual([digits])
  })

  it('fails with the outputs so far', async () => {
    expect(await outputs('[1,2,"x",4]', '.[] | . + 1')).toEqual({
      code: 'filter_failed',
      message: 'The program failed: string ("x") and number (1) cannot be added. Its output before that: 2 3',
    })
    expect(await outputs('{}', 'error("no luck")')).toEqual({
      code: 'filter_failed',
      message: 'The program failed: no luck. It had no output before.',
    })
  })

  it('tells of many outputs so far only the first', async () => {
    const failed = await runJq('null', '(range(1000)), error("x")')
    expect('failure' in failed && failed.failure.message.length).toBeLessThan(500)
  })

  it.each(['<html></html>', '{"a":1', '{"a":1}\n{"a":', "{'a':1}", 'plain words'])(
    'on %s says not_json',
    async (text) => {
      expect(await outputs(text, '.a')).toMatchObject({ code: 'not_json' })
    },
  )

  it.each(['env', 'env.HOME', 'input', '[inputs]', 'halt', 'get_search_list', 'input_line_number | input'])(
    'cannot use %s',
    async (program) => {
      const failed = await outputs('{}', program)
      expect(failed).toMatchObject({ code: 'filter_failed' })
      expect(JSON.stringify(failed)).toContain('is not available here')
    },
  )

  it.each<[string, string]>([
    [`${'['.repeat(300)}${']'.repeat(300)}`, '256 levels'],
    ['"\\ud800"', 'surrogate pair'],
  ])('fails on JSON that jq does not read, without calling it something else', async (json, reason) => {
    expect(await outputs(json, '.')).toMatchObject({ code: 'filter_failed', message: expect.stringContaining(reason) })
  })

  it('sees nothing of the process', async () => {
    expect(await outputs('null', '$ENV, input_filename')).toEqual(['null', 'null'])
  })

  it.each<[string, string]>([
    ['-3 | abs', '3'],
    ['1 | toarray', '[1]'],
    ['[1] | toarray', '[1]'],
    ['add(1, 2)', '3'],
    ['" a " | trim', '"a"'],
    ['" a " | ltrim', '"a "'],
    ['" a " | rtrim', '" a"'],
    ['"xax" | trimstr("x")', '"a"'],
    ['[skip(2; range(5))]', '[2,3,4]'],
    ['[limit(2; range(5))]', '[0,1]'],
    ['have_decnum', 'true'],
    ['{"a":1,"b":2} | pick(.a)', '{"a":1}'],
  ])('may use what jq has got since: %s', async (program, output) => {
    expect(await outputs('null', program)).toEqual([output])
  })
})

describe('a jq program that does not compile', () => {
  it.each<[string, RegExp]>([
    ['.a |', /syntax error.*line 1/],
    ['.a |\n foo', /foo\/0 is not defined at line 2/],
    ['import "a" as a; .', /import/],
    ['include "x"; .', /include/],
    ['.[] as $x | $y', /\$y is not defined/],
    ['1); def x: (2', /syntax error/],
    ['def f: 1;', /syntax error/],
    ['# nothing', /syntax error/],
    ['"\\(1', /syntax error/],
  ])('is told so: %s', async (program, reason) => expect(await jqFault(program)).toMatch(reason))

  it('is told so however deep it is nested', async () => {
    expect(await jqFault('['.repeat(4_000))).toMatch(/syntax error/)
  })

  it.each(['.a', '.[] | {a, b: .c?}', '.a as [$x] ?// $x | $x', 'reduce range(1e9) as $i (0; . + $i)', 'empty # x'])(
    'is another: %s',
    async (program) => expect(await jqFault(program)).toBeUndefined(),
  )
})
