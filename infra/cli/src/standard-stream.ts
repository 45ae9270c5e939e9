/** The file name that stands for standard input or output. */
export const standardStream = '-';
