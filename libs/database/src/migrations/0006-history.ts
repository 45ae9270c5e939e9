/** Creates the schema of history tables: one for each collection with history, created with its switch. */
export const statements: readonly string[] = ['create schema history'];
