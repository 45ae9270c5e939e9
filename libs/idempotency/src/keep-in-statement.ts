import { isDatabaseError, sqlState } from '@recordbus/database';
import { keptFor } from './key-store.ts';

/** The parts of SQL that keep an answer. */
interface KeptAnswer {
  /** An unused key's values, as `bytea`. */
  readonly id: string;
  readonly fingerprint: string;
  readonly status: number;
  readonly etag: string;
  /** The whole answer's JSON, as text. */
  readonly json: string;
  /** A FROM item with a row for the answer, or none if there is nothing to keep. */
  readonly from: string;
}

/**
 * SQL that keeps a write's answer in the write's own statement, and returns its `json`. The answer is not encrypted, so
 * use it only for answers whose data is stored unencrypted anyway. The statement fails if another request has used the
 * key meanwhile (`isKeyUsed`).
 */
export const keepInStatement = ({ id, fingerprint, status, etag, json, from }: KeptAnswer): string =>
  // The previous version's replica sees a lease in place of an answer, and reports that the first request is running.
  `insert into system.idempotency_keys (id, token, lease_until, fingerprint, status, etag, json, expires_at)
  select ${id}, gen_random_uuid(), now() + ${keptFor}, ${fingerprint}, ${status}, ${etag}, ${json}, now() + ${keptFor} from ${from}
  returning json`;

/** Whether a statement failed because its key was used meanwhile. */
export const isKeyUsed = (error: unknown): boolean =>
  isDatabaseError(error, sqlState.uniqueViolation) && error.constraint === 'idempotency_keys_pkey';
