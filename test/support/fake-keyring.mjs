import * as nodeModule from 'node:module';

/** Loaded with `--import`: replaces the package for the keyring of the system, which a test machine does not have. */
const KEYRING = '@napi-rs/keyring';
const fake = new URL('./fake-keyring-entry.mjs', import.meta.url).href;

if (nodeModule.registerHooks) {
  nodeModule.registerHooks({
    resolve: (specifier, context, next) =>
      specifier === KEYRING ? { url: fake, shortCircuit: true } : next(specifier, context),
  });
} else {
  const resolve = `(specifier, context, next) =>
    specifier === '${KEYRING}' ? { url: '${fake}', shortCircuit: true } : next(specifier, context)`;
  nodeModule.register(`data:text/javascript,${encodeURIComponent(`export const resolve = ${resolve}`)}`);
}
