import { svelte } from '@sveltejs/vite-plugin-svelte';
import type { UserConfig } from 'vite';

const config: UserConfig = {
  base: '/_/',
  plugins: [
    svelte({
      configFile: false,
      compilerOptions: { css: 'external', runes: true },
      onwarn(warning) {
        throw new Error(`${warning.filename}: ${warning.message}`);
      },
    }),
  ],
  build: {
    rolldownOptions: { input: ['index.html', 'docs.html', 'portal.html'] },
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
