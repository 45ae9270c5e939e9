/** The header of a write's answer that names a state of the database with the write, and of a read that needs that state. */
export const consistencyHeader = 'x-service-consistency';

/** How long reads need the state of a write, in milliseconds. A state that no read replica may lack is as old. */
export const consistencyMs = 30_000;

/**
 * A state of the database, as clients see it: the text of a later one is greater. Opaque to them; the database library writes
 * and reads it.
 */
export type Consistency = string;

/** A state that no read replica has. So it is greater than every other. */
export const onlyPrimary: Consistency = 'primary';

/** Returns the later of two states. */
export const laterOf = (a: Consistency | undefined, b: Consistency | undefined): Consistency | undefined =>
  a === undefined || (b !== undefined && b > a) ? b : a;
