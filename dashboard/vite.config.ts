import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compression } from 'vite-plugin-compression2';
import manifest from './package.json' with { type: 'json' };

/** Address of the service during development. */
const SERVICE = process.env.SERVICE_URL ?? 'http://localhost:3000';
/** Paths of the service. The dashboard serves all others. */
const SERVICE_PATHS = ['/me', '/v1', '/auth', '/oauth', '/docs', '/openapi.json', '/dashboard', '/dev'];

/** Files below this size do not get smaller by compression. */
const COMPRESSION_THRESHOLD = 512;

/** First versions with `light-dark()`. Its replacement for older browsers ignores a theme that the person chose. */
const BROWSERS = ['chrome123', 'edge123', 'firefox120', 'safari17.5'];

export default defineConfig({
  define: { __VERSION__: JSON.stringify(manifest.version) },
  plugins: [
    react(),
    compression({
      algorithms: ['brotliCompress', 'gzip'],
      threshold: COMPRESSION_THRESHOLD,
      logLevel: 'silent',
    }),
  ],
  server: {
    proxy: Object.fromEntries(SERVICE_PATHS.map((path) => [`^${path}(/|\\?|$)`, { target: SERVICE }])),
  },
  // Inline data URLs would need an exception in the Content-Security-Policy.
  build: {
    target: BROWSERS,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1_000,
    modulePreload: { polyfill: false },
  },
});
