import { defineExtension, type MailAttachment, type OutgoingMail, refuse, route, z } from '@recordbus/extensions';

const mail = z.record(z.string(), z.unknown());

/** Attachments whose contents are given in base64, as bytes. */
const withBytes = ({ attachments, ...rest }: Record<string, unknown>): OutgoingMail =>
  ({
    ...rest,
    ...(Array.isArray(attachments) && {
      attachments: attachments.map(
        (one): MailAttachment =>
          typeof one.base64 === 'string'
            ? { name: one.name, type: one.type, content: new Uint8Array(Buffer.from(one.base64, 'base64')) }
            : one,
      ),
    }),
  }) as OutgoingMail;

export const extension = defineExtension({
  hooks: {
    letters: {
      async beforeCreate({ values }, tools) {
        await tools.mail.send({ to: String(values.to), subject: 'A letter', text: 'Hello' });
        if (values.refused) throw refuse(422, 'no letter today');
      },
    },
  },
  routes: [
    route({
      method: 'POST',
      path: '/mails',
      access: 'public',
      body: mail,
      handler: ({ body }, tools) => tools.mail.send(withBytes(body)),
    }),
    route({
      method: 'POST',
      path: '/mails/as-caller',
      access: 'public',
      scope: 'any',
      body: mail,
      handler: ({ body, caller }, tools) => tools.mail.send({ ...withBytes(body), as: caller }),
    }),
    route({
      method: 'POST',
      path: '/mails/attached-bytes',
      access: 'public',
      body: z.object({ to: z.string(), bytes: z.number() }),
      handler: ({ body }, tools) =>
        tools.mail.send({
          to: body.to,
          subject: 'Large',
          text: '',
          attachments: [{ name: 'large.bin', type: 'application/octet-stream', content: new Uint8Array(body.bytes) }],
        }),
    }),
  ],
});
