import type { JsonSchema } from './answers.ts';
import type { RouteManifest } from './manifest.ts';

/**
 * The parts of a service's API that its code does not declare: collections and extension routes. It is only used for
 * the API's description.
 */
export interface ServiceDescription {
  /** Changes when any other member changes. */
  readonly version: string;
  readonly routes: readonly RouteManifest[];
  /** The schemas that these routes refer to as `#/components/schemas/<name>`. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** The tags' descriptions, by tag. */
  readonly tags: Readonly<Record<string, string>>;
}
