/** Text with each run of white space as one space, and none at its ends. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
