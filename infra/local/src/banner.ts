import { preferredPort } from './choose-port.ts';
import type { RunningStack } from './running-stack.ts';

interface Start {
  readonly durationMs: number;
  /** Whether the usual port was taken, so that guides name another address. */
  readonly isElsewhere: boolean;
}

/** The text for newcomers once the stack answers: its address and the next step. */
export function banner(
  { url, setupToken }: Pick<RunningStack, 'url' | 'setupToken'>,
  { durationMs, isElsewhere }: Start,
): string {
  const lines = [`Recordbus is ready at ${url} (${(durationMs / 1000).toFixed(1)} s)`];
  if (isElsewhere)
    lines.push(`Another program has port ${preferredPort}. SERVICE_PORT chooses one that stays the same.`);
  if (setupToken) {
    lines.push(
      '',
      'There is no admin yet. Create the first one on this page:',
      `  ${url}/_/#setup=${setupToken}`,
      '',
      'or with a request:',
      `  curl -X POST ${url}/api/v1/admin/setup -H 'Content-Type: application/json' \\`,
      `    -d '{"token":"${setupToken}","email":"you@example.com","password":"at least 12 characters"}'`,
    );
  } else lines.push(`Admin pages: ${url}/_/`);
  lines.push('', 'Ctrl-C stops it; the data stays.');
  return `\n${lines.join('\n')}\n\n`;
}
