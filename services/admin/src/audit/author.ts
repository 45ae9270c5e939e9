import type { RequestContext } from '@recordbus/shared/context';

/** The request that changes something, as audit rows want it. */
export interface Author {
  readonly context: RequestContext;
  readonly userAgent: string | undefined;
}

/** Who is behind a request. */
export const authorOf = (input: {
  readonly context: RequestContext;
  header(name: string): string | undefined;
}): Author => ({
  context: input.context,
  userAgent: input.header('user-agent'),
});
