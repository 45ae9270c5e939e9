import type { IncomingMessage } from 'node:http';
import { malformed, payloadTooLarge, requestTimeout } from '@recordbus/errors';
import { collectBytes, declaredBodyBytes, ok, type Route, route } from '@recordbus/http';
import { z } from 'zod';
import type { InboundMails } from '../inbound-mail/inbound-mails.ts';

const bodyLimitBytes = 25 * 2 ** 20;
/** A body has to arrive within this time, in milliseconds. */
const bodyTimeoutMs = 60_000;

/** `POST /api/v1/mail/inbound/<provider>`: a mail that came in at a provider (mail §6). */
export const inboundMailRoute = (mails: Pick<InboundMails, 'take'>): Route =>
  route({
    method: 'POST',
    path: '/api/v1/mail/inbound/:provider',
    access: 'public',
    scope: 'none',
    readsAuthorization: true,
    summary: 'Take a mail from a provider, for the hooks onMail',
    params: z.object({ provider: z.string().max(64).describe('postmark, mailgun or ses') }),
    streamedBody: {
      'application/json': { type: 'object', description: 'from Postmark, and from Amazon SNS as text/plain' },
      'multipart/form-data': { type: 'object', description: 'from Mailgun' },
    },
    bodyLimitBytes,
    requestHeaders: { Authorization: "Basic, whose password is Postmark's secret" },
    answers: {
      200: z.object({ received: z.literal(true) }),
      400: 'the body is not in the format of the provider',
      401: 'the password or the signature is wrong, or the request is old',
      404: 'no such provider, or its secret is not set',
      406: 'the token of the request was used before',
      413: 'the body is too large',
      415: 'the body is compressed, or of another type',
      422: 'the mail cannot be read',
      502: 'Amazon SNS did not confirm the subscription',
      503: 'no extension takes mails, or too many wait',
    },
    handler: async ({ params, stream, header, context }) => {
      await mails.take({
        provider: params.provider,
        authorization: header('authorization'),
        contentType: header('content-type') ?? '',
        context,
        readBody: async (maxBytes) => (stream ? readBytes(stream, maxBytes) : Buffer.alloc(0)),
      });
      return ok({ received: true });
    },
  });

async function readBytes(stream: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (declaredBodyBytes(stream) > maxBytes) throw payloadTooLarge(maxBytes);
  const collected = collectBytes();
  const deadlineMs = performance.now() + bodyTimeoutMs;
  let length = 0;
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      length += chunk.length;
      if (length > maxBytes) throw payloadTooLarge(maxBytes);
      if (performance.now() > deadlineMs) throw requestTimeout();
      collected.add(chunk);
    }
  } catch (error) {
    if (stream.errored) throw malformed('the body ended before it was whole');
    throw error;
  }
  return collected.take();
}
