/**
 * Creates the schema of links: for each relation to several records a table, and for each collection with such relations
 * the function of the triggers that keep them.
 */
export const statements: readonly string[] = ['create schema links'];
