import { z } from 'zod';

/** A record of any collection, as every answer shows it (contract §2). */
export const recordJson = z.looseObject({
  id: z.string(),
  created: z.int().optional().describe('unix seconds'),
  updated: z.int().optional().describe('unix seconds'),
  expand: z.record(z.string(), z.unknown()).optional().describe('the records that expand asked for, by relation'),
});

/** What an answer says of the version of its record. */
export const etagHeader = { ETag: 'The version of the record, for If-Match and If-None-Match' };

/** How a write asks for a version. */
export const ifMatchHeader = { 'If-Match': 'the ETag of the version to write to, or * for any; another one is 412' };
