// The script of a report, whose data never change.
use(JSON.parse(document.getElementById("series").textContent).subjects || []);
drawAll();
