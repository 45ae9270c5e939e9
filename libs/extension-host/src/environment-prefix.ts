/** Variables whose names begin so are given to extensions, and no others. */
export const environmentPrefix = 'EXTENSION_';
