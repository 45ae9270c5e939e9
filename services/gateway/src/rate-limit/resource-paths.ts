import { splitUrl } from '@recordbus/shared/http';
import type { Exchange } from '../pipeline/exchange.ts';

/**
 * Every path of what a request is about: a rule on one of a record's three paths covers all of them (contract §8), and
 * none is got around by another spelling. What nobody declared has its own path only.
 */
export const resourcePaths = (url: string, { route, params }: Pick<Exchange, 'route' | 'params'>): readonly string[] =>
  route ? route.aliases.map((alias) => fill(alias, params)) : [splitUrl(url).path];

/** A declared path with what stands for its parameters in a request. */
const fill = (path: string, params: Exchange['params']): string =>
  path.replace(/:([^/]+)/g, (_, name: string) => params[name] ?? '');
