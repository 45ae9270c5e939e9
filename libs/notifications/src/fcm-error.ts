import type { EgressResponse } from '@recordbus/egress';
import { z } from 'zod';
import { readJson } from './provider.ts';

/** What Firebase says of a message that it refused; nothing where it said nothing that is understood. */
export interface FcmError {
  /** `UNREGISTERED`, `QUOTA_EXCEEDED`, …; undefined when it was not Firebase itself that refused. */
  readonly code?: string | undefined;
  /** The code of google.rpc.Status. */
  readonly status?: string | undefined;
  readonly message?: string | undefined;
  /** The members of the request that are wrong. */
  readonly fields: readonly string[];
}

const text = z.string().optional().catch(undefined);
/** Of google.firebase.fcm.v1.FcmError the code, of google.rpc.BadRequest the fields. */
const detail = z.object({
  errorCode: text,
  fieldViolations: z
    .array(z.object({ field: z.string() }))
    .optional()
    .catch(undefined),
});
const answer = z.object({
  error: z.object({
    status: text,
    message: text,
    details: z.array(detail.catch({ errorCode: undefined, fieldViolations: undefined })).catch([]),
  }),
});

/** Reads a refusal (https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode). */
export function readFcmError(response: EgressResponse): FcmError {
  const read = answer.safeParse(readJson(response));
  if (!read.success) return { fields: [] };
  const { status, message, details } = read.data.error;
  return {
    code: details.find(({ errorCode }) => errorCode !== undefined)?.errorCode,
    status,
    message,
    fields: details.flatMap(({ fieldViolations = [] }) => fieldViolations.map(({ field }) => field)),
  };
}
