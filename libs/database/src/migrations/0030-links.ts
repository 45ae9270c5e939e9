/**
 * Creates the schema of links. It has a table for each relation to several records, and for each collection with such
 * relations the function of the triggers that maintain the links.
 */
export const statements: readonly string[] = ['create schema links'];
