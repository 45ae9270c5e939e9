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

/** The routes of one path, with the names that each gives to the path's parameters. */
type Methods<R> = Map<string, { readonly route: R; readonly names: readonly string[] }>;

/**
 * Finds the route of a method and a path (no query). The path decides first, static segments before parameters, then
 * the method: what is declared on `/api/v1/:collection` is never taken for `/api/:collection/:id` because the method
 * fits there. HEAD is served by GET.
 * The finder throws 404 for a path nobody declared and 405 with `Allow` for a path declared with other methods.
 */
export function createRouter<R extends Routable>(routes: readonly R[]): (method: string, path: string) => Match<R> {
  const shapes = new Map<string, Methods<R>>();
  for (const route of routes) {
    for (const path of route.paths) {
      const names: string[] = [];
      const shape = path.replaceAll(/:(\w+)/g, (_, name) => `:p${names.push(name) - 1}`);
      const methods: Methods<R> = shapes.get(shape) ?? new Map();
      if (methods.has(route.method)) throw new Error(`${route.method} ${path} is declared twice`);
      shapes.set(shape, methods.set(route.method, { route, names }));
    }
  }
  const router = findMyWay({ ignoreTrailingSlash: true, maxParamLength: 1024 });
  for (const [shape, methods] of shapes) router.on('GET', shape, () => {}, methods);

  return (method, path) => {
    const found = router.find('GET', path);
    // A path that can't be decoded is found, with no store.
    if (!found?.store) throw notFound('route');
    const methods = found.store as Methods<R>;
    const declared = methods.get(method === 'HEAD' ? 'GET' : method);
    if (!declared) throw methodNotAllowed(allowHeader(methods));
    return {
      route: declared.route,
      params: Object.fromEntries(declared.names.map((name, index) => [name, found.params[`p${index}`]])),
    };
  };
}

const allowHeader = (methods: ReadonlyMap<string, unknown>): string =>
  [...methods.keys()].flatMap((name) => (name === 'GET' ? ['GET', 'HEAD'] : [name])).join(', ');
