import findMyWay from 'find-my-way';
import { malformed, methodNotAllowed, notFound } from '../errors.ts';
import type { Method } from './route.ts';

interface Routable {
  readonly method: Method;
  readonly paths: readonly string[];
}

export interface Match<R> {
  readonly route: R;
  readonly params: Record<string, string | undefined>;
}

/** What stands at one path: a route for each method, and how it calls the parameters of the path. */
interface Resource<R> {
  readonly routes: Map<string, { readonly route: R; readonly parameters: readonly string[] }>;
}

const methods: readonly Method[] = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'];

/**
 * Finds the route of a method and a path (no query). The path alone decides what is meant, and static segments win
 * over parameters: a path that is declared is never taken for a parameter of another because of the method. HEAD is
 * served by GET. The finder throws 404 for a path nobody declared, 405 with `Allow` for a path declared with other
 * methods, 400 for one whose percent-encoding is broken. Two routes of one method and path are an error at start.
 */
export function createRouter<R extends Routable>(routes: readonly R[]): (method: string, path: string) => Match<R> {
  const finder = findMyWay({ ignoreTrailingSlash: true, maxParamLength: 1024 });
  const resources = new Map<string, Resource<R>>();

  function getResource(shape: string): Resource<R> {
    let resource = resources.get(shape);
    if (!resource) {
      resource = { routes: new Map() };
      resources.set(shape, resource);
      finder.on('GET', shape, () => {}, resource);
    }
    return resource;
  }

  for (const route of routes) {
    for (const path of route.paths) {
      const parameters: string[] = [];
      const shape = path.replace(/:([^/]+)/g, (_, name: string) => `:${parameters.push(name) - 1}`);
      const resource = getResource(shape);
      if (resource.routes.has(route.method)) throw new Error(`${route.method} ${path} is declared twice`);
      resource.routes.set(route.method, { route, parameters });
    }
  }

  return (method, path) => {
    const found = finder.find('GET', path);
    if (!found) throw isEncoded(path) ? notFound('route') : malformed('the path is not valid percent-encoding');
    const resource: Resource<R> = found.store;
    const entry = resource.routes.get(method === 'HEAD' ? 'GET' : method);
    if (!entry) throw methodNotAllowed(allowOf(resource));
    const params: Record<string, string | undefined> = {};
    for (const [index, name] of entry.parameters.entries()) params[name] = found.params[index];
    return { route: entry.route, params };
  };
}

const allowOf = ({ routes }: Resource<unknown>): string =>
  methods.flatMap((method) => (routes.has(method) ? (method === 'GET' ? ['GET', 'HEAD'] : [method]) : [])).join(', ');

function isEncoded(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
