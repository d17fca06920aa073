import { Store } from './store';

it('calls its listeners on each new value, until they leave', () => {
  const store = new Store(1);
  const seen: number[] = [];
  const leave = store.subscribe(() => seen.push(store.snapshot()));
  store.set(1);
  store.set(2);
  leave();
  store.set(3);
  expect([seen, store.snapshot()]).toEqual([[2], 3]);
});
