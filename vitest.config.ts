import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    restoreMocks: true,
    // Tests of whole processes wait for them more than they compute.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 30_000,
  },
})
