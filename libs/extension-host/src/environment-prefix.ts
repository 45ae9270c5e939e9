/** The prefix for environment variables that extensions can read; they see no others. */
export const environmentPrefix = 'EXTENSION_';
