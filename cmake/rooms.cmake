# A room is a folder under src/: its .cpp files become one object library, the files in its test/ folder one test program.
# Object libraries keep self-registering files (laws, models, solvers), which a static library would drop.

add_library(mdpcosim_options INTERFACE)
# Bitwise equal results on every transport and number of workers forbid contraction and reassociation.
target_compile_options(mdpcosim_options INTERFACE -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual)
if(MDPCOSIM_WERROR)
  target_compile_options(mdpcosim_options INTERFACE -Werror)
endif()
if(MDPCOSIM_SANITIZE)
  target_compile_options(mdpcosim_options INTERFACE -fsanitize=${MDPCOSIM_SANITIZE} -fno-omit-frame-pointer -g1)
  target_link_options(mdpcosim_options INTERFACE -fsanitize=${MDPCOSIM_SANITIZE})
endif()
target_include_directories(mdpcosim_options INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_include_directories(mdpcosim_options SYSTEM INTERFACE ${EIGEN3_INCLUDE_DIRS})

# One precompiled header for all targets with the same options. Not for the rooms: with it, g++ 12 may give false warnings about
# bounds of arrays and strings in optimised code.
function(mdpcosim_precompile name header)
  add_library(${name} OBJECT ${CMAKE_SOURCE_DIR}/cmake/empty.cpp)
  target_link_libraries(${name} PRIVATE mdpcosim_options fmt::fmt ${ARGN})
  target_precompile_headers(${name} PRIVATE ${header})
endfunction()

# Objects do not travel through object libraries: every room hands on its own and those of the rooms below.
function(mdpcosim_objects name)
  cmake_parse_arguments(arg "" "" "SOURCES;ROOMS;LIBRARIES" ${ARGN})
  if(NOT arg_SOURCES)
    set(arg_SOURCES ${CMAKE_SOURCE_DIR}/cmake/empty.cpp)
  endif()
  set(closure ${name})
  set(libraries ${arg_LIBRARIES})
  foreach(room ${arg_ROOMS})
    get_property(rooms_below GLOBAL PROPERTY mdpcosim_closure_${room})
    get_property(libraries_below GLOBAL PROPERTY mdpcosim_libraries_${room})
    list(APPEND closure ${rooms_below})
    list(APPEND libraries ${libraries_below})
  endforeach()
  list(REMOVE_DUPLICATES closure)
  list(REMOVE_DUPLICATES libraries)
  set_property(GLOBAL PROPERTY mdpcosim_closure_${name} ${closure})
  set_property(GLOBAL PROPERTY mdpcosim_libraries_${name} ${libraries})

  add_library(mdpcosim_${name}_objects OBJECT ${arg_SOURCES})
  target_link_libraries(mdpcosim_${name}_objects PUBLIC mdpcosim_options ${libraries})
  add_library(mdpcosim_${name} INTERFACE)
  target_link_libraries(mdpcosim_${name} INTERFACE mdpcosim_options ${libraries})
  foreach(room ${closure})
    target_sources(mdpcosim_${name} INTERFACE $<TARGET_OBJECTS:mdpcosim_${room}_objects>)
  endforeach()
endfunction()

function(mdpcosim_room name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp ${CMAKE_SOURCE_DIR}/src/${name}/*/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/test/")
  mdpcosim_objects(${name} SOURCES ${sources} ${ARGN})
  set_property(GLOBAL APPEND PROPERTY mdpcosim_rooms ${name})
endfunction()

function(mdpcosim_models name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/models/*/*.cpp)
  mdpcosim_objects(${name} SOURCES ${sources} ${ARGN})
endfunction()
