/** Where the history of records stands: a table for each collection that keeps one, made with its flag. */
export const statements: readonly string[] = ['create schema history'];
