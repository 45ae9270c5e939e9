import type { Scenario } from './read-scenarios.ts';

/** Sends a scenario's request. Returns what is wrong with the answer; undefined if it is as expected. */
export async function runScenario(url: string, scenario: Scenario): Promise<string | undefined> {
  const { method, path, headers = {}, body, status, has = [], lacks = [] } = scenario;
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    body: body ?? null,
    redirect: 'manual',
  });
  const text = method === 'HEAD' ? '' : await answer.text();
  if (answer.status !== status) return `${answer.status} instead of ${status}: ${text.slice(0, 300)}`;
  const missing = has.find((part) => !text.includes(part));
  if (missing !== undefined) return `without ${missing}: ${text.slice(0, 600)}`;
  const extra = lacks.find((part) => text.includes(part));
  return extra === undefined ? undefined : `with ${extra}`;
}

/** Reads first, then what is refused, then what changes records: the scenarios of a round share their records. */
export function orderOf({ method, status }: Scenario): number {
  if (method === 'GET' || method === 'HEAD') return 0;
  if (status >= 400) return 1;
  return method === 'DELETE' ? 3 : 2;
}
