import { isDatabaseError, sqlState } from '@recordbus/database';
import type { UnusedKey } from '@recordbus/http';
import type { Cte } from '@recordbus/journal';
import type { NamedParameters } from '@recordbus/query';
import { keptFor } from './key-store.ts';

/** The values for a statement that keeps its answer for an unused key. */
export interface UnusedKeyValues {
  readonly keyId: Buffer;
  readonly keyFingerprint: Buffer;
}

export const keyValuesOf = (key: UnusedKey | undefined): UnusedKeyValues | undefined =>
  key && { keyId: key.id, keyFingerprint: key.fingerprint };

/** A write's answer, in SQL. */
interface WrittenAnswer {
  readonly status: number;
  readonly etag: string;
  /** The whole answer's JSON, as text. */
  readonly json: string;
  /** A FROM item with a row for the answer, or none if there is nothing to keep. */
  readonly from: string;
}

/**
 * The CTE `kept`, which keeps a write's answer in the write's own statement, and has the answer's text as `json`. The
 * answer is not encrypted, so use it only for answers whose data is stored unencrypted anyway. The statement fails if
 * another request has used the key meanwhile (`isKeyUsed`).
 */
export function keptAnswer(
  { status, etag, json, from }: WrittenAnswer,
  parameters: Pick<NamedParameters<Partial<UnusedKeyValues>>, 'named'>,
): Cte {
  const id = parameters.named('keyId', 'bytea');
  const fingerprint = parameters.named('keyFingerprint', 'bytea');
  // The previous version's replica sees a lease in place of an answer, and reports that the first request is running.
  const sql = `insert into system.idempotency_keys (id, token, lease_until, fingerprint, status, etag, json, expires_at)
  select ${id}, gen_random_uuid(), now() + ${keptFor}, ${fingerprint}, ${status}, ${etag}, ${json}, now() + ${keptFor} from ${from}
  returning json`;
  return { name: 'kept', sql };
}

/** A FROM item: the answer's rows, with the row `k` of the kept answer, or none. */
export const withKept = ({ from }: Pick<WrittenAnswer, 'from'>): string => `(${from} cross join kept k)`;

/** Whether a statement failed because its key was used meanwhile. */
export const isKeyUsed = (error: unknown): boolean =>
  isDatabaseError(error, sqlState.uniqueViolation) && error.constraint === 'idempotency_keys_pkey';
