import type { AuditedAction } from '@recordbus/audit';
import type { RequestContext } from '@recordbus/request/context';

/** Who makes a change, as audit rows record it: a request's caller, or an operator at the command line. */
export interface Actor {
  readonly context: AuditedAction['context'];
  readonly userAgent: string | undefined;
}

/** Returns the actor behind a request. */
export const actorOf = (input: {
  readonly context: RequestContext;
  header(name: string): string | undefined;
}): Actor => ({
  context: input.context,
  userAgent: input.header('user-agent'),
});
