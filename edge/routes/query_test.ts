/** Query parameters of a read. */

import assert from "node:assert/strict";
import { testOnFile } from "../testing/each_storage.ts";
import { get, newInstanceId, NOW_TS, refused, send } from "../testing/api.ts";

const START = NOW_TS - 100;

testOnFile("a parameter that is wrong is named", async (service) => {
  const id = `instance_id=${newInstanceId()}`;
  const wrong: Record<string, string[]> = {
    "": ["instance_id", "start"],
    "start=1": ["instance_id"],
    "instance_id=&start=1": ["instance_id"],
    [id]: ["start"],
    [`${id}&start=`]: ["start"],
    [`${id}&start=abc`]: ["start"],
    [`${id}&start=1e3`]: ["start"],
    [`${id}&start=-1`]: ["start"],
    [`${id}&start=0x10`]: ["start"],
    [`${id}&start=1.0000000001`]: ["start"],
    [`${id}&start=99999999999`]: ["start"],
    [`${id}&start=1&start=1`]: ["start"],
    [`${id}&${id}&start=1`]: ["instance_id"],
    [`${id}&start=1&end=`]: ["end"],
    [`${id}&start=1&end=2&end=3`]: ["end"],
    [`${id}&start=1&top=0`]: ["top"],
    [`${id}&start=1&top=1.5`]: ["top"],
    [`${id}&start=1&metrics=`]: ["metrics"],
    [`${id}&start=1&metrics=a,,b`]: ["metrics"],
    [`${id}&start=1&stop=2`]: ["stop"],
    [`${id}&start=x&end=y`]: ["start", "end"],
  };
  for (const [query, parameters] of Object.entries(wrong)) {
    const { errors } = await refused(await get(service, `/api/v1/signals?${query}`), 400);
    assert.deepEqual(errors.map(({ parameter }) => parameter), parameters, query);
  }
});

testOnFile("a window that ends before it starts is refused", async (service) => {
  const id = newInstanceId();
  await send(service, { instance_id: id, from: START, to: START + 10 });
  for (const span of [`start=${START + 1}&end=${START}`, `start=${NOW_TS + 1}`]) {
    const response = await get(service, `/api/v1/signals?instance_id=${id}&${span}`);
    const { errors } = await refused(response, 400);
    assert.equal(errors[0]?.parameter, "start");
  }
});
