import { createHash } from 'node:crypto';
import { defineExtension, route, z } from '@recordbus/extensions';

/** A mail as the tests see it: contents as SHA-256. */
const seen = z.record(z.string(), z.unknown());

/** Keeps the mails that came in, by their subject. */
export const extension = defineExtension({
  async onMail(mail, { kv, transaction }) {
    if (mail.subject === 'Fails once' && mail.attempt === 1) throw new Error('not yet');
    if (mail.subject === 'Fails always') throw new Error('never');
    await transaction(async () => {
      const before = Number((await kv.get(`count ${mail.subject}`)) ?? 0);
      await kv.set(`count ${mail.subject}`, before + 1);
    });
    const attachments = mail.attachments.map(({ content, ...rest }) => ({
      ...rest,
      sha256: content && createHash('sha256').update(content).digest('hex'),
    }));
    await kv.set(`mail ${mail.subject}`, { ...mail, text: mail.text?.slice(0, 1000) ?? null, attachments });
  },
  routes: [
    route({
      method: 'GET',
      path: '/desk/:subject',
      access: 'public',
      params: z.object({ subject: z.string() }),
      answer: z.object({ count: z.number(), mail: seen.nullable() }),
      handler: async ({ params: { subject } }, { kv }) => ({
        count: Number((await kv.get(`count ${subject}`)) ?? 0),
        mail: (await kv.get(`mail ${subject}`)) ?? null,
      }),
    }),
  ],
});
