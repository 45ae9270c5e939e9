import type { Database } from './database.ts';
import type { Query } from './statement.ts';

/** Returns the database with a time limit for statements that check a rule, in milliseconds (cost §1.6). */
export const limitRules = (database: Database, limitMs: () => number): Database => {
  const limited =
    (query: Query): Query =>
    (statement) =>
      query(statement.checksRule ? { ...statement, limitMs: limitMs() } : statement);
  return {
    ...database,
    query: limited(database.query),
    write: limited(database.write),
    transaction: (work) => database.transaction((query) => work(limited(query))),
    of: (name) => limitRules(database.of(name), limitMs),
  };
};
