// The page of a report: its data never change.
use(JSON.parse(document.getElementById("series").textContent).subjects || []);
drawAll();
