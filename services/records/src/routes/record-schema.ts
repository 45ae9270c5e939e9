import { z } from 'zod';

/** Any collection's record, as answers show it (records §2.1). */
export const anyRecord = z
  .looseObject({
    id: z.string(),
    created: z.int().optional().describe('unix seconds'),
    updated: z.int().optional().describe('unix seconds'),
    expand: z.record(z.string(), z.unknown()).optional().describe('the expanded records, by relation'),
  })
  .meta({ id: 'AnyRecord' });

/** The header with the record's version in an answer. */
export const etagHeader = { ETag: "The record's version, for If-Match and If-None-Match" };

/** The header with the versions that a write admits. */
export const ifMatchHeader = { 'If-Match': "the current version's ETag, or * for any; 412 for another version" };

/** Why a read is refused with 422 for its cost. */
export const tooExpensive =
  'the answer is too large, the read takes too long, or a view cannot be computed from its data';
