import findMyWay from 'find-my-way';
import { methodNotAllowed, notFound } from '../errors.ts';
import type { Method } from './route.ts';

interface Routable {
  readonly method: Method;
  readonly paths: readonly string[];
}

export interface Match<R> {
  readonly route: R;
  readonly params: Record<string, string | undefined>;
}

const methods: readonly Method[] = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'];

/**
 * Finds the route of a method and a path (no query). Static segments win over parameters; HEAD is served by GET.
 * The finder throws 404 for a path nobody declared and 405 with `Allow` for a path declared with other methods.
 */
export function createRouter<R extends Routable>(routes: readonly R[]): (method: string, path: string) => Match<R> {
  const router = findMyWay({ ignoreTrailingSlash: true, maxParamLength: 1024 });
  for (const route of routes) {
    for (const path of route.paths) router.on(route.method, path, () => {}, route);
  }
  const find = (method: string, path: string): Match<R> | undefined => {
    const found = router.find((method === 'HEAD' ? 'GET' : method) as Method, path);
    return found?.store ? { route: found.store, params: found.params } : undefined;
  };
  return (method, path) => {
    const match = find(method, path);
    if (match) return match;
    const allowed = methods.filter((other) => find(other, path));
    if (allowed.length === 0) throw notFound('route');
    throw methodNotAllowed(allowed.flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name])).join(', '));
  };
}
