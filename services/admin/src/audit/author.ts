import type { AuditedAction } from '@recordbus/audit';
import type { RequestContext } from '@recordbus/shared/context';

/** Who changes something, as audit rows want it: a request, or an operator at the command line. */
export interface Author {
  readonly context: AuditedAction['context'];
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
