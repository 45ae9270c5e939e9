import type { UnusedKey } from '@recordbus/http';
import { keepInStatement } from '@recordbus/idempotency';
import type { Cte } from '@recordbus/journal';
import type { NamedParameters } from '@recordbus/query';
import { etagSql } from '../record/etag.ts';
import { bodyOf, type WrittenJson } from '../shape/written-json.ts';

/** The values for a statement that keeps its answer for an idempotency key. */
export interface UnusedKeyValues {
  readonly keyId: Buffer;
  readonly keyFingerprint: Buffer;
}

export const keyValuesOf = (key: UnusedKey | undefined): UnusedKeyValues | undefined =>
  key && { keyId: key.id, keyFingerprint: key.fingerprint };

/** The CTE `kept`, which keeps a write's answer if the record was written, and has the answer's text as `json`. */
export const keptAnswer = (
  status: 200 | 201,
  shown: WrittenJson,
  parameters: Pick<NamedParameters<Partial<UnusedKeyValues>>, 'named'>,
): Cte => ({
  name: 'kept',
  sql: keepInStatement({
    id: parameters.named('keyId', 'bytea'),
    fingerprint: parameters.named('keyFingerprint', 'bytea'),
    status,
    etag: etagSql('s.version'),
    json: bodyOf(shown),
    from: shown.from,
  }),
});

/** A FROM item: the row `s` with the written record and the row `k` with its kept answer, or none. */
export const withKept = (shown: WrittenJson): string => `(${shown.from} cross join kept k)`;
