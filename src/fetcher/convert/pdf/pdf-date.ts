const DATE =
  /^(?:D:)?(?<year>\d{4})(?<month>\d{2})?(?<day>\d{2})?(?<hour>\d{2})?(?<minute>\d{2})?(?<second>\d{2})?\s*(?:Z[\d']*|(?<sign>[+-])(?<hours>\d{2})'?(?<minutes>\d{2})?'?)?\s*$/

/**
 * A date as PDF writes it, `D:YYYYMMDDHHmmSS+HH'mm'`, in ISO 8601 and UTC, without fractions of a second. What is left
 * out at the end is the smallest there is. Undefined if it is no date, or none that exists.
 */
export function pdfDate(text: string): string | undefined {
  const groups = DATE.exec(text)?.groups
  if (!groups) return undefined
  const part = (name: string, missing: number) => (groups[name] === undefined ? missing : Number(groups[name]))
  const [year, month, day] = [part('year', 0), part('month', 1), part('day', 1)]
  const [hour, minute, second] = [part('hour', 0), part('minute', 0), part('second', 0)]
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return undefined
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second))
  if (year < 1_900 || date.getUTCDate() !== day) return undefined
  const sign = groups['sign'] === '-' ? 1 : -1
  date.setUTCMinutes(date.getUTCMinutes() + sign * (part('hours', 0) * 60 + part('minutes', 0)))
  return date.toISOString().replace('.000Z', 'Z')
}
