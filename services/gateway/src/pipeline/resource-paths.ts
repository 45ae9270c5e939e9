import { splitUrl } from '@recordbus/http';
import type { GatewayExchange } from './exchange.ts';

/**
 * Returns every path to the requested resource: a rule for one of a record's three paths covers all of them (http
 * §8.5), and another spelling evades no rule. A request without a route has only its own path.
 */
export const resourcePaths = (
  url: string,
  { route, params }: Pick<GatewayExchange, 'route' | 'params'>,
): readonly string[] => (route ? route.aliases.map((alias) => fill(alias, params)) : [splitUrl(url).path]);

/** Replaces a declared path's parameters with their values. */
const fill = (path: string, params: GatewayExchange['params']): string =>
  path.replace(/:([^/]+)/g, (_, name: string) => params[name] ?? '');
