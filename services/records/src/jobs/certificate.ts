import { z } from 'zod';

const count = z.int();

/** What an erasure removed (privacy §2.4). */
export const certificate = z.object({
  records: count.describe('records that were deleted, cascades included'),
  history: count.describe('versions that were removed or emptied'),
  files: count,
  previews: count,
  deliveries: count.describe("webhooks' deliveries whose payload and answer were emptied"),
  events: count.describe('stored events that were emptied'),
  requests: count.describe('rows in the request log'),
  audit: count.describe('audit rows whose ids became a keyed hash'),
  mails: count.describe('waiting mails and rows of the mail log'),
  stream_until: z.int().nullable().describe("when the stream's last message about it is gone, in unix seconds"),
  backups: z
    .array(
      z.object({
        name: z.string(),
        keep_until: z
          .int()
          .nullable()
          .describe('when the schedule deletes it, in unix seconds; null until an admin deletes it'),
      }),
    )
    .describe('backups that have the record; restoring one erases it again'),
});

export type Certificate = z.output<typeof certificate>;
