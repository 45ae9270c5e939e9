import manifest from '../package.json' with { type: 'json' };

/** The running version: `0.2.0`. */
export const productVersion: string = manifest.version;
