import { EgressBlockedError, type EgressClient, EgressFailedError } from '@recordbus/egress';
import { AppError } from '@recordbus/errors';
import { mapOf } from '@recordbus/http/map-of';
import { z } from 'zod';
import { type Tool, tool } from './tool.ts';

const defaultTimeoutMs = 10_000;
const maxTimeoutMs = 60_000;
const defaultBytes = 1024 * 1024;
const maxBytes = 16 * 1024 * 1024;

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

const options = z.strictObject({
  method: z.enum(methods, `must be one of ${methods.join(', ')}`).default('GET'),
  headers: mapOf(z.string('must be text'), 'must be an object with texts').default({}),
  body: z.union([z.string(), z.instanceof(Uint8Array)], 'must be text or bytes').optional(),
  timeoutMs: z.number().positive().max(maxTimeoutMs).default(defaultTimeoutMs),
  maxBytes: z.number().positive().max(maxBytes).default(defaultBytes),
});

/** `http.fetch`, through the egress filter (webhooks §7.1). */
export const fetchTools = (client: Pick<EgressClient, 'request'>): Readonly<Record<string, Tool>> => ({
  'http.fetch': tool(z.tuple([z.string(), options]), async (_call, [url, request]) => {
    const { method, headers, body, timeoutMs, maxBytes: maxBodyBytes } = request;
    try {
      const answer = await client.request(url, {
        method,
        headers: Object.entries(headers),
        timeoutMs,
        maxBodyBytes,
        ...(body !== undefined && { body }),
      });
      if (answer.truncated) throw new AppError(502, 'fetch_failed', `the answer has more than ${maxBodyBytes} bytes`);
      const named = Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(', ')]);
      return { status: answer.status, headers: Object.fromEntries(named), bytes: answer.body };
    } catch (error) {
      if (error instanceof EgressBlockedError) throw new AppError(502, 'egress_blocked', error.message);
      if (error instanceof EgressFailedError) throw new AppError(502, 'fetch_failed', error.message);
      throw error;
    }
  }),
});
