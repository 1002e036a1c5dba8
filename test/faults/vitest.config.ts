import { defineConfig } from 'vitest/config'

/** Faults that take root and programs of the system to make: `npm run test:faults`. */
export default defineConfig({
  test: {
    include: ['test/faults/*.faults.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 30_000,
  },
})
