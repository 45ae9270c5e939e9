import type { RunningStack } from './running-stack.ts';

/** The text for newcomers once the stack answers: its address and the next step. */
export function banner({ url, setupToken }: RunningStack, startedInMs: number): string {
  const lines = [`Recordbus is ready at ${url} (${(startedInMs / 1000).toFixed(1)} s)`];
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
