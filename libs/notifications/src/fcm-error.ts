import type { EgressResponse } from '@recordbus/egress';
import { z } from 'zod';
import { readJson } from './provider.ts';

/** The reasons that Firebase gives for refusing a message. Members are absent where the answer lacks them. */
export interface FcmError {
  /** `UNREGISTERED`, `QUOTA_EXCEEDED`, …; undefined when another layer than Firebase refused the request. */
  readonly code?: string | undefined;
  /** The google.rpc.Status code. */
  readonly status?: string | undefined;
  readonly message?: string | undefined;
  /** The request's wrong members. */
  readonly fields: readonly string[];
}

const text = z.string().optional().catch(undefined);
/** `errorCode` comes from google.firebase.fcm.v1.FcmError, `fieldViolations` from google.rpc.BadRequest. */
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

/** Reads a refusal's body (https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode). */
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
