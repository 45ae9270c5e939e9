import { malformed, methodNotAllowed, notFound } from '@recordbus/errors';
import findMyWay from 'find-my-way';
import type { Method } from './route.ts';

interface Routable {
  readonly method: Method;
  readonly paths: readonly string[];
}

export interface Match<R> {
  readonly route: R;
  readonly params: Record<string, string | undefined>;
}

/** One path: a route for each method, and its names for the path's parameters. */
interface Resource<R> {
  /** The path with numbered parameters. */
  readonly shape: string;
  readonly parameterCount: number;
  readonly routes: Map<string, { readonly route: R; readonly parameters: readonly string[] }>;
}

const methods: readonly Method[] = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'];

/**
 * Whether a path cannot exist although a declared shape matches it. The shape has numbered parameters (`/api/:0/:1`),
 * and `values` are their values.
 */
type IsImpossible = (shape: string, values: Values) => boolean;

/** The values for a path's parameters, by number. */
type Values = Readonly<Record<number, string | undefined>>;

/**
 * Creates a function that finds the route of a method and a path (without query). The path alone selects the resource,
 * and static segments win over parameters: a declared path never matches another path's parameter because of the
 * method. The exception is a PUT below a parameter: it creates the record that its path names, and its route says why
 * that name is reserved. GET serves HEAD. The function throws 404 for an unknown path, 405 with `Allow` for a path with
 * other methods, and 400 for broken percent-encoding. Throws when two routes have the same method and path.
 */
export function createRouter<R extends Routable>(
  routes: readonly R[],
  isImpossible: IsImpossible = () => false,
): (method: string, path: string) => Match<R> {
  const finder = findMyWay({ ignoreTrailingSlash: true, maxParamLength: 1024 });
  const resources = new Map<string, Resource<R>>();

  function getResource(shape: string, parameterCount: number): Resource<R> {
    let resource = resources.get(shape);
    if (!resource) {
      resource = { shape, parameterCount, routes: new Map() };
      resources.set(shape, resource);
      finder.on('GET', shape, () => {}, resource);
    }
    return resource;
  }

  for (const route of routes) {
    for (const path of route.paths) {
      const parameters: string[] = [];
      const shape = path.replace(/:([^/]+)/g, (_, name: string) => `:${parameters.push(name) - 1}`);
      const resource = getResource(shape, parameters.length);
      if (resource.routes.has(route.method)) throw new Error(`${route.method} ${path} is declared twice`);
      resource.routes.set(route.method, { route, parameters });
    }
  }

  return (method, path) => {
    const found = finder.find('GET', path);
    if (!found) throw isEncoded(path) ? notFound('route') : malformed('the path is not valid percent-encoding');
    const resource: Resource<R> = found.store;
    if (isImpossible(resource.shape, found.params)) throw notFound('route');
    // `/posts//` has an extra slash, not an empty parameter.
    for (let index = 0; index < resource.parameterCount; index += 1)
      if (found.params[index] === '') throw notFound('route');
    const entry = resource.routes.get(method === 'HEAD' ? 'GET' : method);
    const named =
      !entry && method === 'PUT' && resource.parameterCount > 0 ? findNamed(resource, found.params) : undefined;
    if (named) return named;
    if (!entry) throw methodNotAllowed(allowOf(resource));
    return { route: entry.route, params: paramsOf(entry.parameters, found.params) };
  };

  /** Finds the PUT of the path that has a parameter instead of the static last segment of the given path. */
  function findNamed({ shape, parameterCount }: Resource<R>, values: Values): Match<R> | undefined {
    const end = shape.lastIndexOf('/');
    const entry = resources.get(`${shape.slice(0, end)}/:${parameterCount}`)?.routes.get('PUT');
    const params = { ...values, [parameterCount]: shape.slice(end + 1) };
    return entry && { route: entry.route, params: paramsOf(entry.parameters, params) };
  }
}

function paramsOf(names: readonly string[], values: Values): Record<string, string | undefined> {
  const params: Record<string, string | undefined> = {};
  for (const [index, name] of names.entries()) params[name] = values[index];
  return params;
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
