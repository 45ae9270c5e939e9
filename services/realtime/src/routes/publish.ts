import { payloadTooLarge } from '@recordbus/errors';
import { ok, type Route, route } from '@recordbus/http';
import { z } from 'zod';
import { channelName } from '../channels/channel-name.ts';
import type { Channels } from '../channels/channels.ts';

/** The largest data in a message, as JSON text (realtime §7.4). */
const maxDataBytes = 64 * 1024;

/** `POST /api/v1/realtime/channels/:name`: sends a message to a channel's subscribers. */
export const publishRoute = ({ channels }: { readonly channels: Pick<Channels, 'publish'> }): Route =>
  route({
    method: 'POST',
    path: '/api/v1/realtime/channels/:name',
    access: 'public',
    scope: 'rules:*',
    action: 'create',
    summary: "Send a message to a channel's subscribers",
    params: z.object({ name: channelName }),
    body: z.strictObject({ data: z.unknown().nonoptional('is required') }),
    // The data limit ignores white space and escapes, so the body may be larger.
    bodyLimitBytes: 4 * maxDataBytes,
    answers: {
      200: z.object({ channel: z.string() }),
      403: 'the publish rule refuses',
      404: 'no pattern matches the channel',
      413: 'the data has more than 64 KiB',
    },
    async handler({ params, body, context }) {
      const data = JSON.stringify(body.data);
      if (Buffer.byteLength(data) > maxDataBytes) throw payloadTooLarge(maxDataBytes, 'data');
      await channels.publish(params.name, data, context.principal);
      return ok({ channel: params.name });
    },
  });
