import { AppError } from '@recordbus/errors';
import { type ContextSigner, contextHeader, type RequestContext } from './context.ts';

export interface OtherService {
  readonly url: string;
  readonly contextSigner: ContextSigner;
  /** Makes the error for a service that does not answer. */
  readonly away: (cause?: unknown) => AppError;
}

export interface ServiceCall {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly body: unknown;
  readonly timeoutMs: number;
}

/** Calls another service over HTTP with the signed context (http §6.5), and returns its answer. Throws its refusals. */
export async function callService(
  { url, contextSigner, away }: OtherService,
  { method, path, body, timeoutMs }: ServiceCall,
  context: RequestContext,
): Promise<unknown> {
  const target = new URL(path, url);
  const signed = contextSigner.sign(context, { method, url: target.pathname });
  const response = await fetch(target, {
    method,
    headers: { 'Content-Type': 'application/json', [contextHeader]: signed },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((error) => {
    throw away(error);
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  const { code, error, details } = Object(answer);
  if (typeof code !== 'string' || typeof error !== 'string') throw away();
  throw new AppError(response.status, code, error, details ? { details } : {});
}
