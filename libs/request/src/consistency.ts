/** The header in a write's answer that names a database state with the write, and in a read that needs that state. */
export const consistencyHeader = 'x-service-consistency';

/** How long reads need a write's state, in milliseconds. Every read replica must have all older writes. */
export const consistencyMs = 30_000;

/**
 * A database state, as an opaque text for clients. A later state's text is greater. The database library writes and
 * reads it.
 */
export type Consistency = string;

/** A state that no read replica has, greater than every other. */
export const onlyPrimary: Consistency = 'primary';

/** Returns the later one. */
export const laterOf = (a: Consistency | undefined, b: Consistency | undefined): Consistency | undefined =>
  a === undefined || (b !== undefined && b > a) ? b : a;

/** The header that a read's route declares. */
export const consistencyHeaders = {
  'X-Service-Consistency':
    'the value from the answer to a write: the read sees that write, even if a read replica serves it',
};

interface Reading {
  readonly query: { readonly consistency?: 'eventual' | undefined };
  header(name: string): string | undefined;
}

/** The state that a read must see, which the gateway or the client names; undefined for any. */
export const stateToSee = ({ query, header }: Reading): Consistency | undefined =>
  query.consistency === 'eventual' ? undefined : header(consistencyHeader);
