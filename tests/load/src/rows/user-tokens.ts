import type pg from 'pg';

/** The tokens for a row's user. Each product that is measured has its own: two may be compared. */
export interface UserTokens {
  keep(database: pg.Client, token: string): void;
  /** The headers for the user's requests. */
  headersFor(database: pg.Client): Readonly<Record<string, string>>;
}

/** Creates a row's tokens, by the connection to the product's database. */
export function createUserTokens(): UserTokens {
  const tokens = new WeakMap<pg.Client, string>();
  return {
    keep(database, token) {
      tokens.set(database, token);
    },
    headersFor(database) {
      const token = tokens.get(database);
      if (token === undefined) throw new Error('the row has no user in this product');
      return { authorization: `Bearer ${token}` };
    },
  };
}
