import { withSamples } from './code-samples.ts';
import type { OpenApi } from './read-document.ts';

/** The reference script's API. */
interface Scalar {
  createApiReference(target: Element, configuration: object): { destroy(): void };
}

declare global {
  interface Window {
    readonly Scalar?: Scalar;
  }
}

/** Leaves samples for curl, JavaScript, Python and the Recordbus client. */
const hiddenClients = {
  ...Object.fromEntries(
    ['c', 'clojure', 'csharp', 'dart', 'fsharp', 'go', 'http', 'java', 'kotlin', 'node', 'objc', 'ocaml', 'php']
      .concat(['powershell', 'r', 'ruby', 'rust', 'swift'])
      .map((target) => [target, true]),
  ),
  shell: ['wget', 'httpie'],
  js: ['axios', 'jquery', 'ofetch', 'xhr'],
  python: ['python3', 'httpx_sync', 'httpx_async', 'aiohttp'],
};

let shown: { destroy(): void } | undefined;

/** Turns off everything that sends requests to other sites, which the page's policy would block. */
const withoutServices = {
  hideClientButton: true,
  showDeveloperTools: 'never',
  telemetry: false,
  withDefaultFonts: false,
  agent: { disabled: true, hideAddApi: true },
  mcp: { disabled: true },
};

/** Shows a document in the last one's place. Requests that the reader sends carry the token. */
export function showReference(document: OpenApi, token: string | undefined): void {
  const place = window.document.querySelector('#reference');
  if (!place || !window.Scalar) throw new Error('The API reference script is missing.');
  shown?.destroy();
  const inner = window.document.createElement('div');
  place.replaceChildren(inner);
  const scheme = token?.startsWith('rbk_') ? 'key' : 'admin';
  shown = window.Scalar.createApiReference(inner, {
    ...withoutServices,
    content: withSamples(document, location.origin),
    theme: 'none',
    layout: 'modern',
    documentDownloadType: 'none',
    operationTitleSource: 'summary',
    persistAuth: false,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    hiddenClients,
    authentication: {
      preferredSecurityScheme: scheme,
      securitySchemes: Object.fromEntries(['user', 'admin', 'key'].map((name) => [name, { token: token ?? '' }])),
    },
  });
}
