import { createHash } from 'node:crypto';
import type { Statement } from '@recordbus/database';
import type { WriteStatement } from '@recordbus/journal';

/** A statement without its values. */
export type Prepared = Pick<Statement, 'name' | 'text' | 'onPrimary'>;

/**
 * A statement that each connection prepares once. Its name is a hash of the text, so a collection that is reloaded
 * unchanged finds its statements prepared. Only for texts that clients cannot vary at will.
 */
export const prepare = (purpose: string, text: string): Prepared => ({
  name: `${purpose} ${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`,
  text,
});

/** The statement with a run's values. */
export const withValues = ({ name, text, onPrimary }: Prepared, values: unknown[]): Statement => ({
  name,
  text,
  onPrimary,
  values,
});

/** Prepares a statement that writes, with values by name. */
export const prepareWrite = <Given extends object>(
  purpose: string,
  { text, valuesFrom }: WriteStatement<Given>,
): Prepared & Pick<WriteStatement<Given>, 'valuesFrom'> => ({ ...prepare(purpose, text), valuesFrom });
