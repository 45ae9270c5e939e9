import { svelte } from '@sveltejs/vite-plugin-svelte';
import type { Plugin, UserConfig } from 'vite';

/** Lets the page ask for the font with its scripts: styles would ask only when there is a text to draw. */
const fontFirst: Plugin = {
  name: 'font-first',
  transformIndexHtml(html, { bundle = {} }) {
    const font = Object.keys(bundle).find((file) => file.includes('inter-latin-wght'));
    if (!font || !html.includes('id="app"')) return html;
    const attrs = { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: '', href: `/_/${font}` };
    return [{ tag: 'link', attrs, injectTo: 'head' }];
  },
};

const config: UserConfig = {
  base: '/_/',
  plugins: [
    fontFirst,
    svelte({
      configFile: false,
      compilerOptions: { css: 'external', runes: true },
      onwarn(warning) {
        throw new Error(`${warning.filename}: ${warning.message}`);
      },
    }),
  ],
  build: {
    rolldownOptions: { input: ['index.html', 'docs.html'] },
    target: 'es2022',
    // Data addresses in styles would need a wider policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 600,
  },
};

// biome-ignore lint/style/noDefaultExport: Vite reads the default export.
export default config;
