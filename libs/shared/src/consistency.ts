/** The header of a write's answer that names a state of the database with the write, and of a read that needs that state. */
export const consistencyHeader = 'x-service-consistency';

/** How long reads need the state of a write, in milliseconds. Every read replica must have all older writes. */
export const consistencyMs = 30_000;

/**
 * A state of the database, as an opaque text for clients. The text of a later state is greater. The database library
 * writes and reads it.
 */
export type Consistency = string;

/** A state that no read replica has, greater than every other. */
export const onlyPrimary: Consistency = 'primary';

/** Returns the later of two states. */
export const laterOf = (a: Consistency | undefined, b: Consistency | undefined): Consistency | undefined =>
  a === undefined || (b !== undefined && b > a) ? b : a;
