import { eventually } from '../eventually.ts';
import { replicaCount } from './target.ts';

/**
 * Waits until every replica passes the check. Each request may reach another replica, so with several of them the check
 * passes many times in a row.
 */
export async function eventuallyOnEveryReplica(what: string, check: () => Promise<boolean>): Promise<void> {
  const inARow = replicaCount === 1 ? 1 : 8 * replicaCount;
  await eventually(`${what} on every replica`, async () => {
    for (let passed = 0; passed < inARow; passed += 1) if (!(await check())) return false;
    return true;
  });
}
